// Files on their way into an index: sent a few at a time, followed until each is in or says why not, sent again after
// the server was away. Nothing here draws.

import { Refused, events, jobOf, remove, upload } from "/page/api.js";
import { t } from "/page/strings.js";

const BATCH_FILES = 20;
const FIRST_FILES = 2; // the first are there to be searched before the others are sent
const BATCH_BYTES = 32_000_000;

let number = 0;

// One upload queue of an index; `changed` hears of everything, `landed` of each time that the index has more.
export class Uploads {
  constructor(index, changed, landed) {
    this.index = index;
    this.changed = changed;
    this.landed = landed;
    this.items = [];
    this.job = null; // what the server reads of `batch`
    this.batch = [];
    this.stopping = null;
    this.away = false;
    this.startedAt = 0;
  }

  get running() {
    return this.stopping !== null;
  }

  // Whether there is something that the server does not have yet.
  get sending() {
    return this.running && this.items.some((item) => item.state === "waiting" || item.state === "sending");
  }

  get counts() {
    const count = (state) => this.items.filter((item) => item.state === state).length;
    return { done: count("done"), failed: count("failed"), all: this.items.length };
  }

  // What was done so far: a share of the bytes (half of it for sending, half for reading), seconds that went by and are left.
  get progress() {
    const size = this.items.reduce((sum, item) => sum + Math.max(item.size, 1), 0);
    const ended = (item) => item.state === "done" || item.state === "failed" || item.state === "stopped";
    const behind = this.items.reduce((sum, item) => sum + (ended(item) ? Math.max(item.size, 1) : item.sent / 2), 0);
    const taken = (performance.now() - this.startedAt) / 1_000;
    const share = size ? behind / size : 0;
    const bytes = this.items.reduce((sum, item) => sum + (ended(item) ? item.size : 0), 0);
    return { share, taken, left: share > 0.05 && share < 1 ? (taken * (1 - share)) / share : null, rate: taken > 0.5 ? bytes / taken : 0 };
  }

  add(files) {
    for (const { file, name } of files) {
      this.items.push({ id: ++number, file, name, size: file.size, sent: 0, state: "waiting", problem: null, document: "", chunks: 0 });
    }
    this.start();
  }

  retry() {
    for (const item of this.items) if (item.state === "failed" || item.state === "stopped") Object.assign(item, { state: "waiting", sent: 0, problem: null });
    this.start();
  }

  clear() {
    this.items = this.items.filter((item) => item.state !== "done" && item.state !== "failed" && item.state !== "stopped");
    this.changed();
  }

  async cancel() {
    this.stopping?.abort();
    for (const item of this.items) if (item.state === "waiting" || item.state === "sending") item.state = "stopped";
    const job = this.job;
    this.changed();
    if (job) await remove(`/v1/jobs/${job}`).catch(() => {}); // one that has ended cannot be stopped
  }

  // The server is back: what it did not get is sent again, and a job that it has is followed further.
  resume() {
    if (!this.away) return;
    this.away = false;
    this.start();
  }

  async start() {
    if (this.running || !this.items.some((item) => item.state === "waiting" || item.state === "reading")) {
      this.changed();
      return;
    }
    this.stopping = new AbortController();
    this.startedAt = performance.now();
    this.changed();
    try {
      if (this.job) await this.follow();
      for (let batch = this.next(); batch.length && !this.stopping.signal.aborted; batch = this.next()) await this.send(batch);
    } catch (error) {
      this.away = error.unreachable === true;
      if (!this.away && error.name !== "AbortError" && !(error instanceof Refused)) throw error;
    } finally {
      this.stopping = null;
      this.changed();
    }
  }

  next() {
    const batch = [];
    const most = this.items.some((item) => item.state === "done") ? BATCH_FILES : FIRST_FILES;
    let size = 0;
    for (const item of this.items) {
      if (item.state !== "waiting") continue;
      if (batch.length && (batch.length >= most || size + item.size > BATCH_BYTES)) break;
      batch.push(item);
      size += item.size;
    }
    return batch;
  }

  async send(wanted) {
    const batch = await readable(wanted);
    if (!batch.length) return;
    for (const item of batch) item.state = "sending";
    this.changed(); // on a slow network nothing else is heard for a while
    const size = batch.reduce((sum, item) => sum + item.size, 0);
    const progress = (sent, total) => {
      for (const item of batch) item.sent = size ? item.size * Math.min(1, sent / total) : 0;
      this.changed();
    };
    try {
      const { signal } = this.stopping;
      this.job = jobOf(await upload(this.index, batch, { signal, progress })).id;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const again = error.unreachable || error.status === 429 || error.status === 503;
      for (const item of batch) Object.assign(item, again ? { state: "waiting", sent: 0 } : { state: "failed", problem: problemOf(error) });
      if (error.unreachable) throw error;
      if (again) await pause();
      return;
    }
    for (const item of batch) item.state = "reading";
    this.batch = batch;
    await this.follow();
  }

  // Hears of a job until it ends; its files are in the order in which they were sent.
  async follow() {
    const { batch, stopping: { signal } } = this;
    const unread = (change) => batch.filter((item) => item.state === "reading").forEach((item) => Object.assign(item, change));
    try {
      for (;;) {
        for await (const said of events(`/v1/jobs/${this.job}/events`, { signal })) {
          const job = jobOf(said);
          job.files.forEach(({ state, document, chunks, problem }, at) => {
            if (state !== "waiting") Object.assign(batch[at], { state, document, chunks, problem });
          });
          this.changed();
          if (!job.finished) continue;
          if (job.state === "failed") unread({ state: "failed", problem: job.problem });
          this.job = null;
          this.landed();
          return;
        }
        await pause(); // a server that closes ends its streams first
      }
    } catch (error) {
      if (error.unreachable) throw error;
      this.job = null;
      if (error.name === "AbortError") unread({ state: "stopped" });
      if (error.status !== 404) throw error;
      unread({ state: "waiting", sent: 0 }); // the server does not know the job any more
    }
  }
}

const problemOf = ({ message, hint, status }) => (status === 413 ? { detail: t("upload.large"), hint: "" } : { detail: message, hint });

const pause = () => new Promise((settle) => setTimeout(settle, 1_000));

// Those whose files can be read; a browser gives away no file that was changed since it was chosen.
const readable = async (batch) => {
  await Promise.all(batch.map((item) => item.file.slice(0, 1).arrayBuffer().catch(() => {
    Object.assign(item, { state: "failed", problem: { detail: t("upload.changed"), hint: "" } });
  })));
  return batch.filter((item) => item.state === "waiting");
};

// The files of what was dropped, those in folders too, each with its path within what was dropped.
export const filesOf = async (transfer) => {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, name: file.name }));
  const found = [];
  const walk = async (entry, path) => {
    if (entry.isFile) {
      const file = await new Promise((settle, fail) => entry.file(settle, fail)).catch(() => null);
      if (file && !file.name.startsWith(".")) found.push({ file, name: path + file.name });
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((settle, fail) => reader.readEntries(settle, fail)).catch(() => []);
        if (!some.length) return;
        for (const one of some) await walk(one, `${path}${entry.name}/`);
      }
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
};
