// What lies next to the work, as the address says it: a passage in its document (`doc`, `at`, `of`, `cite`), or how a
// search was made (`explain`, `missing`). What draws them is loaded when it is first opened.

import { patch, patchedAddress } from "/page/router.js";
import { chosen, state } from "/page/store.js";

// The parameters that open a passage: of a hit, a citation or a source.
export const openingOf = (span, cited = false) => ({
  doc: span.document, at: `${span.start}-${span.end}`, of: span.collection || chosen()[0], cite: cited || null,
});

export const closing = { doc: null, at: null, of: null, cite: null };
export const sourceHref = (span, cited) => patchedAddress(openingOf(span, cited));
export const isReading = () => state.route.params.has("doc") && state.route.view !== "document";
export const isExplaining = () => state.route.params.has("explain");

let opener = null;

// What is explained is what the view says: by default its one search, else what it knows by that name.
export const openExplain = (what = 1) => {
  opener = document.activeElement;
  patch({ ...closing, explain: what });
};

export const closeExplain = () => {
  patch({ explain: null, missing: null });
  opener?.focus?.();
};
