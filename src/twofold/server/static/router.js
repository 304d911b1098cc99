// What is looked at stands in the address: a view and its parameters. Back, reload and links work by themselves.

const HOME = "ask";

let changed = () => {};

// `/search?index=notes&q=tower` as { view, params }.
export const read = (place = location) => ({
  view: place.pathname.replace(/^\/+/, "") || HOME,
  params: new URLSearchParams(place.search),
});

// The address of a view. Parameters that are empty are left out; lists are repeated.
export const address = (view, params = {}) => {
  const said = new URLSearchParams();
  const pairs = params instanceof URLSearchParams ? [...params] : Object.entries(params);
  for (const [name, value] of pairs) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "" && one !== false) said.append(name, one === true ? "1" : one);
    }
  }
  const text = said.toString();
  return `/${view}${text ? `?${text}` : ""}`;
};

export const go = (view, params, { replace = false } = {}) => {
  const to = address(view, params);
  if (to === location.pathname + location.search) replace = true;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  changed(read());
};

// The address of this view with some parameters changed; null takes one away.
export const patched = (changes) => {
  const { view, params } = read();
  for (const [name, value] of Object.entries(changes)) {
    params.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "" && one !== false) params.append(name, one === true ? "1" : one);
    }
  }
  return [view, params];
};

export const patch = (changes, options) => go(...patched(changes), options);
export const patchedAddress = (changes) => address(...patched(changes));

// Hears of every change of the address, and follows links of the page's own without loading it again.
export const start = (onChange, views) => {
  changed = onChange;
  addEventListener("popstate", () => changed(read()));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hash || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || !views.includes(read(link).view)) return;
    event.preventDefault();
    const to = link.pathname + link.search;
    history[to === location.pathname + location.search ? "replaceState" : "pushState"](null, "", to);
    changed(read());
  });
  changed(read());
};
