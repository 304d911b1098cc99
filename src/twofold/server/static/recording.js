// A recording that can be heard from where a passage begins. It is fetched when somebody wants to hear it, and whole: a
// token travels in a header, which no <audio> sends.

import { Refused, getBlob } from "/page/api.js";
import { t } from "/page/strings.js";

// What `00:01:30` is in seconds.
const secondsOf = (time) => time.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);

class RecordingPlayer extends HTMLElement {
  static observedAttributes = ["from", "at"];

  connectedCallback() {
    this.offer();
  }

  attributeChangedCallback(name, _, now) {
    if (!this.isConnected) return;
    if (name === "from") this.offer();
    else if (this.audio) this.audio.currentTime = secondsOf(now);
    else this.offer();
  }

  disconnectedCallback() {
    this.forget();
  }

  forget() {
    this.audio?.pause();
    this.audio = null;
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = "";
  }

  offer() {
    this.forget();
    const button = document.createElement("button");
    button.type = "button";
    button.className = "second";
    button.textContent = t("play.from", { time: this.getAttribute("at") });
    button.onclick = () => this.play(button);
    this.replaceChildren(button);
  }

  async play(button) {
    const from = this.getAttribute("from");
    button.disabled = true;
    try {
      const data = await getBlob(from);
      if (!this.isConnected || from !== this.getAttribute("from")) return;
      this.address = URL.createObjectURL(data);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const why = document.createElement("p");
      why.className = "error";
      why.setAttribute("role", "alert");
      why.textContent = `${error.message} ${error.hint}`;
      this.replaceChildren(why);
      return;
    }
    const audio = document.createElement("audio");
    Object.assign(audio, { controls: true, src: this.address, currentTime: secondsOf(this.getAttribute("at")) });
    audio.setAttribute("aria-label", t("recording"));
    this.audio = audio;
    this.replaceChildren(audio);
    audio.focus();
    audio.play().catch(() => {}); // the controls are there
  }
}

customElements.define("recording-player", RecordingPlayer);
