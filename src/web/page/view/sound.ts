// Sounds made on the spot: a knock of wood is a short burst of filtered noise, a bell is two sines.
import type { Event } from "../state/game.js";

let context: AudioContext | undefined;

function knock(at: AudioContext, pitch: number, volume: number): void {
  const length = Math.round(at.sampleRate * 0.09);
  const buffer = at.createBuffer(1, length, at.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i++) samples[i] = (Math.random() * 2 - 1) * Math.exp((-i / length) * 9);
  const source = new AudioBufferSourceNode(at, { buffer });
  const wood = new BiquadFilterNode(at, { type: "bandpass", frequency: pitch, Q: 2.2 });
  source
    .connect(wood)
    .connect(new GainNode(at, { gain: volume }))
    .connect(at.destination);
  source.start();
}

function bell(at: AudioContext, frequencies: readonly number[], volume: number): void {
  for (const [i, frequency] of frequencies.entries()) {
    const start = at.currentTime + i * 0.11;
    const tone = new OscillatorNode(at, { frequency });
    const gain = new GainNode(at, { gain: 0 });
    gain.gain.setValueAtTime(volume, start);
    gain.gain.exponentialRampToValueAtTime(0.0001, start + 0.5);
    tone.connect(gain).connect(at.destination);
    tone.start(start);
    tone.stop(start + 0.5);
  }
}

const SOUNDS: Record<Event["kind"], (at: AudioContext) => void> = {
  move: (at) => knock(at, 620, 0.9),
  capture: (at) => {
    knock(at, 900, 1.1);
    knock(at, 300, 0.7);
  },
  check: (at) => {
    knock(at, 620, 0.9);
    bell(at, [880], 0.05);
  },
  end: (at) => bell(at, [523, 659, 784], 0.07),
  start: (at) => bell(at, [392, 523], 0.04),
  back: (at) => knock(at, 420, 0.5),
};

/** Plays the sound of an event. Browsers allow it once the user has done something on the page. */
export function playSound(kind: Event["kind"]): void {
  if (!navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  if (context.state === "suspended") void context.resume();
  SOUNDS[kind](context);
}
