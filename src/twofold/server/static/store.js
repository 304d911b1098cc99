// The one state of the page, and the functions that change it. `app.js` says how it is drawn.

export const state = {
  route: { view: "", params: new URLSearchParams() },
  server: null, // what the server says of itself
  indexes: null, // names; null until they are known
  infos: {}, // what each index holds, by its name
  token: { wanted: "", given: false },
  notice: null, // { text, kind, undo }
  online: true,
  changes: 0, // how often the indexes were changed from here: what was found before is asked again
};

let draw = () => Promise.resolve();

export const drawnBy = (update) => {
  draw = update;
};

// Changes the state and draws it; the promise is kept once it is drawn.
export const update = (change) => draw(change);

// A part of the state that belongs to one view.
export const slice = (name, initial) => {
  state[name] ??= initial;
  return state[name];
};

// The indexes that the address names, else the first there is.
export const chosen = () => {
  const named = state.route.params.getAll("index");
  return named.length ? named : (state.indexes ?? []).slice(0, 1);
};

let forgetting = 0;

// Says something in passing: it is read out, and goes after a while.
export const say = (text, kind = "note") => {
  clearTimeout(forgetting);
  forgetting = setTimeout(() => update((all) => { all.notice = null; }), 6_000);
  return update((all) => { all.notice = { text, kind }; });
};

// ---- Other tabs of this browser: they hear what was changed here, and look again.

const tabs = new BroadcastChannel("twofold");

export const tellTabs = (what) => tabs.postMessage(what);
export const heardFromTabs = (listener) => {
  tabs.onmessage = ({ data }) => listener(data);
};
