// Templates, keyed lists and one loop from state to screen. No text is ever parsed as HTML: a template's own markup is
// read by the small parser below, and what stands in its holes becomes text nodes, attributes and properties.
//
//   html`<p class=${name} ?hidden=${flag} .value=${text} @click=${listener} ref=${seen}>${child}</p>`
//
// `.value` is what the field has after every rendering; `~value` is what it starts from: what a person has typed or chosen
// since stays until the template's own value changes.
//
// A child may be text, a number, a template, a node, a list of them, or nothing (null, undefined, false, true).
// Whitespace with a line break next to a tag or a hole is dropped, elsewhere it is one space; entities are not decoded.

const TEMPLATE = Symbol("template");
const HOLE = "\u0001";
const SVG = "http://www.w3.org/2000/svg";
const VOID = new Set(["area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"]);
const ADDRESSES = new Set(["href", "src", "action", "formaction", "xlink:href"]);
const OWN_ADDRESS = /^(\/(?![/\\])|[#?]|blob:|$)/;

export const html = (strings, ...values) => ({ kind: TEMPLATE, strings, values, key: undefined });

// A template that is known by its key among its neighbors, so that it is moved and not made again.
export const keyed = (key, template) => ({ ...template, key });

const isTemplate = (value) => value !== null && typeof value === "object" && value.kind === TEMPLATE;

// ---- Reading a template: once for each place in the source where one stands.

const parsed = new WeakMap();

const parse = (strings) => {
  if (!parsed.has(strings)) parsed.set(strings, new Parser(strings.join(HOLE)).read());
  return parsed.get(strings);
};

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.holes = 0;
  }

  read() {
    const children = this.children();
    if (this.at < this.text.length) this.fail("an end without a beginning");
    return children;
  }

  children() {
    const found = [];
    while (this.at < this.text.length) {
      if (this.text.startsWith("</", this.at)) break;
      if (this.text[this.at] === "<") found.push(this.element());
      else if (this.text[this.at] === HOLE) {
        this.at += 1;
        found.push({ hole: this.holes++ });
      } else this.words(found);
    }
    return found;
  }

  words(found) {
    const end = this.until(/[<\u0001]/g);
    const raw = this.text.slice(this.at, end);
    this.at = end;
    const text = raw.replace(/^[ \t]*\n\s*|\s*\n[ \t]*$/g, "").replace(/\s+/g, " ");
    if (text) found.push(text);
  }

  element() {
    this.at += 1;
    const tag = this.name();
    const attributes = [];
    for (;;) {
      this.blank();
      if (this.text.startsWith("/>", this.at)) {
        this.at += 2;
        return { tag, attributes, children: [] };
      }
      if (this.text[this.at] === ">") break;
      attributes.push(this.attribute());
    }
    this.at += 1;
    const children = VOID.has(tag) ? [] : this.children();
    if (!VOID.has(tag)) {
      if (!this.text.startsWith(`</${tag}>`, this.at)) this.fail(`<${tag}> is not ended`);
      this.at += tag.length + 3;
    }
    return { tag, attributes, children };
  }

  attribute() {
    const name = this.name();
    if (/^on|^srcdoc$/i.test(name)) this.fail(`the attribute ${name} is never set`);
    if (this.text[this.at] !== "=") return { name, pieces: [""], hole: -1 };
    this.at += 1;
    if (this.text[this.at] === HOLE) {
      this.at += 1;
      return { name, pieces: null, hole: this.holes++ };
    }
    if (name === "style") this.fail("a style is an object in a hole");
    if (this.text[this.at] !== '"') this.fail(`the value of ${name} wants quotation marks`);
    const end = this.text.indexOf('"', this.at + 1);
    if (end < 0) this.fail(`the value of ${name} is not ended`);
    const pieces = this.text.slice(this.at + 1, end).split(HOLE);
    this.at = end + 1;
    const hole = this.holes;
    this.holes += pieces.length - 1;
    return { name, pieces, hole };
  }

  name() {
    const end = this.until(/[\s=>/\u0001]/g);
    if (end === this.at) this.fail("a name is missing");
    const name = this.text.slice(this.at, end);
    this.at = end;
    return name;
  }

  blank() {
    this.at = this.until(/\S/g);
  }

  until(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.index ?? this.text.length;
  }

  fail(why) {
    throw new SyntaxError(`${why}: …${this.text.slice(Math.max(0, this.at - 20), this.at + 40).replaceAll(HOLE, "${}")}`);
  }
}

// ---- Parts: what holes become.

class AttributePart {
  constructor(element, { name, pieces, hole }) {
    this.element = element;
    this.name = name;
    this.pieces = pieces;
    this.hole = hole;
    this.last = undefined;
    this.touched = false;
    if (name[0] === "@") element.addEventListener(name.slice(1), this);
    if (name[0] === "~") element.addEventListener("input", () => { this.touched = true; });
  }

  handleEvent(event) {
    return this.last?.call(this.element, event);
  }

  update(values) {
    const value = this.pieces === null ? values[this.hole]
      : this.pieces.reduce((text, piece, at) => text + (values[this.hole + at - 1] ?? "") + piece);
    const same = value === this.last;
    this.last = value;
    if (this.name[0] === ".") setProperty(this.element, this.name.slice(1), value);
    else if (this.name[0] === "~") this.start(value, same);
    else if (!same && this.name[0] !== "@") setAttribute(this.element, this.name, value);
  }

  // A radio button hears nothing when another of its group is chosen, so that only a new value sets it.
  start(value, same) {
    if (same && (this.touched || this.element.type === "radio")) return;
    this.touched = false;
    setProperty(this.element, this.name.slice(1), value);
  }
}

// Compared with what the element has and not with what was set: a person may have typed.
const setProperty = (element, name, value) => {
  if (/html$/i.test(name) || name === "srcdoc") throw new TypeError(`${name} is never set`);
  if (element[name] !== value) element[name] = value;
};

const setAttribute = (element, name, value) => {
  if (name === "ref") value?.(element);
  else if (name === "style") setStyle(element, value ?? {});
  else if (name[0] === "?") element.toggleAttribute(name.slice(1), Boolean(value));
  else if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (ADDRESSES.has(name) && !OWN_ADDRESS.test(String(value))) element.removeAttribute(name); // not of this server
  else element.setAttribute(name, value === true ? "" : String(value));
};

const setStyle = (element, style) => {
  for (const [name, value] of Object.entries(style)) {
    if (value === null || value === undefined) element.style.removeProperty(name);
    else element.style.setProperty(name, String(value));
  }
};

// A stretch of nodes that ends in an anchor: `first()` up to the anchor is what it shows.
class ChildPart {
  constructor(anchor, svg = false, hole = 0) {
    this.anchor = anchor;
    this.svg = svg;
    this.hole = hole;
    this.held = null; // a Text, a Node, an Instance or a List
  }

  update(values) {
    this.set(values[this.hole]);
  }

  set(value) {
    if (value === null || value === undefined || typeof value === "boolean") this.clear();
    else if (isTemplate(value)) this.setTemplate(value);
    else if (Array.isArray(value)) {
      if (!(this.held instanceof List)) {
        this.clear();
        this.held = new List(this.anchor, this.svg);
      }
      this.held.update(value);
    } else if (value instanceof Node) {
      if (this.held !== value) {
        this.clear();
        this.insert(value);
      }
    } else this.setText(String(value));
  }

  setText(text) {
    if (!(this.held instanceof Text)) {
      this.clear();
      this.insert(document.createTextNode(text));
    } else if (this.held.data !== text) this.held.data = text;
  }

  setTemplate(value) {
    const held = this.held;
    if (held instanceof Instance && held.strings === value.strings && held.key === value.key) held.update(value.values);
    else {
      this.clear();
      this.held = new Instance(value, this.svg);
      this.anchor.before(this.held.fragment);
    }
  }

  insert(node) {
    this.anchor.before(node);
    this.held = node;
  }

  first() {
    if (this.held === null) return this.anchor;
    return this.held instanceof Node ? this.held : this.held.first() ?? this.anchor;
  }

  clear() {
    if (this.held === null) return;
    for (let node = this.first(); node !== this.anchor;) {
      const next = node.nextSibling;
      node.remove();
      node = next;
    }
    this.held = null;
  }
}

class Instance {
  constructor({ strings, values, key }, svg) {
    this.strings = strings;
    this.key = key;
    this.parts = [];
    this.fragment = document.createDocumentFragment();
    this.tops = this.fill(this.fragment, parse(strings), svg);
    this.update(values);
  }

  update(values) {
    for (const part of this.parts) part.update(values);
  }

  first() {
    const [top] = this.tops;
    return top instanceof ChildPart ? top.first() : top;
  }

  fill(parent, children, svg) {
    return children.map((child) => {
      if (typeof child === "string") return parent.appendChild(document.createTextNode(child));
      if (child.hole !== undefined) {
        const part = new ChildPart(parent.appendChild(document.createComment("")), svg, child.hole);
        this.parts.push(part);
        return part;
      }
      return parent.appendChild(this.element(child, svg || child.tag === "svg"));
    });
  }

  element({ tag, attributes, children }, svg) {
    const element = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const one of attributes) {
      if (one.hole < 0) element.setAttribute(one.name, "");
      else if (one.pieces?.length === 1) element.setAttribute(one.name, one.pieces[0]);
    }
    this.fill(element, children, svg);
    // After the children, so that a select has its options when its value is set.
    for (const one of attributes.filter(({ hole, pieces }) => hole >= 0 && pieces?.length !== 1)) {
      this.parts.push(new AttributePart(element, one));
    }
    return element;
  }
}

// Items by their keys, or by their places where they have none.
class List {
  constructor(anchor, svg) {
    this.anchor = anchor;
    this.svg = svg;
    this.items = new Map();
  }

  first() {
    for (const item of this.items.values()) return item.first();
    return null;
  }

  update(values) {
    const before = this.items;
    const after = new Map();
    values.forEach((value, at) => {
      const key = value?.key ?? at;
      if (after.has(key)) throw new TypeError(`two items have the key ${String(key)}`);
      after.set(key, before.get(key) ?? new ChildPart(document.createComment(""), this.svg));
    });
    for (const [key, item] of before) {
      if (after.has(key)) continue;
      item.clear();
      item.anchor.remove();
    }
    const [left] = [...before].filter(([key]) => after.has(key));
    this.items = after;
    this.place(values, left?.[1].first() ?? this.anchor);
  }

  // Puts the items in their order from `next` on, the first node that is left of the old ones, and moves few.
  place(values, next) {
    const parent = this.anchor.parentNode;
    let at = 0;
    for (const item of this.items.values()) {
      if (!item.anchor.parentNode) parent.insertBefore(item.anchor, next);
      else if (item.first() !== next) moved(parent, item, next);
      item.set(values[at++]);
      next = item.anchor.nextSibling;
    }
  }
}

const moved = (parent, item, before) => {
  const focused = document.activeElement;
  const nodes = [];
  for (let node = item.first(); ; node = node.nextSibling) {
    nodes.push(node);
    if (node === item.anchor) break;
  }
  for (const node of nodes) parent.insertBefore(node, before);
  if (focused !== document.activeElement && nodes.some((node) => node.contains(focused))) focused.focus({ preventScroll: true });
};

// ---- The loop.

// Draws a template into an element, whose content it owns from then on.
const roots = new WeakMap();

export const render = (template, root) => {
  if (!roots.has(root)) {
    root.replaceChildren(document.createComment(""));
    roots.set(root, new ChildPart(root.firstChild));
  }
  roots.get(root).set(template);
};

// Draws `view(state)` into `root` now and after each change, once for all changes of one turn. Gives `update`, which
// takes a function that changes the state; `drawn` promises the next drawing.
export const mount = (root, view, state) => {
  let waiting = null;
  const draw = () => {
    waiting = null;
    render(view(state), root);
  };
  const drawn = () => {
    waiting ??= Promise.resolve().then(draw);
    return waiting;
  };
  const update = (change) => {
    change?.(state);
    return drawn();
  };
  draw();
  return update;
};
