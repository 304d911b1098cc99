// The microphone: what is said is recorded, made a WAV file of one channel, and read by this server and nobody else.

import { postSound } from "/page/api.js";

const RATE = 16_000;
const MAX_MS = 58_000; // the server reads a minute
const TICK_MS = 1_000;
const HEAD_BYTES = 44;

// Starts recording; `ticked` hears each second how many there are. Gives what ends it: `words` says what was heard, `drop`
// forgets it. Rejects where that is not allowed.
export const listen = async (ended, ticked) => {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const parts = [];
  const over = new Promise((settle) => { recorder.onstop = settle; });
  recorder.ondataavailable = ({ data }) => ticked(parts.push(data));
  recorder.start(TICK_MS);
  const limit = setTimeout(ended, MAX_MS);
  const drop = async () => {
    clearTimeout(limit);
    if (recorder.state !== "inactive") recorder.stop();
    await over;
    for (const track of stream.getTracks()) track.stop();
  };
  const words = async () => {
    await drop();
    return (await postSound("/v1/transcriptions", await wavOf(new Blob(parts)))).text;
  };
  return { drop, words };
};

// The browser decodes its own recording at the rate that the model wants; channels are made one.
const wavOf = async (recorded) => {
  const sound = await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await recorded.arrayBuffer());
  const channels = Array.from({ length: sound.numberOfChannels }, (_, at) => sound.getChannelData(at));
  const file = new DataView(new ArrayBuffer(HEAD_BYTES + 2 * sound.length));
  const name = (at, text) => [...text].forEach((letter, step) => file.setUint8(at + step, letter.charCodeAt(0)));
  name(0, "RIFF");
  file.setUint32(4, HEAD_BYTES - 8 + 2 * sound.length, true);
  name(8, "WAVEfmt ");
  file.setUint32(16, 16, true);
  file.setUint16(20, 1, true);
  file.setUint16(22, 1, true);
  file.setUint32(24, RATE, true);
  file.setUint32(28, 2 * RATE, true);
  file.setUint16(32, 2, true);
  file.setUint16(34, 16, true);
  name(36, "data");
  file.setUint32(40, 2 * sound.length, true);
  for (let at = 0; at < sound.length; at += 1) {
    const mean = channels.reduce((sum, one) => sum + one[at], 0) / channels.length;
    file.setInt16(HEAD_BYTES + 2 * at, Math.max(-1, Math.min(1, mean)) * 32_767, true);
  }
  return new Blob([file], { type: "audio/wav" });
};
