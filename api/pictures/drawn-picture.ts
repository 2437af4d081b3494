import { createHash } from "node:crypto";
import type { Media } from "#api/http/answer.ts";

/**
 * A picture for what has none, or none that can be shown: the same for the same token at all times, in the colours of its
 * contract.
 */
export function drawPicture(contract: string, tokenId = ""): Media {
  const ofContract = createHash("sha256").update(contract.toLowerCase()).digest();
  const ofToken = createHash("sha256").update(`${contract.toLowerCase()}/${tokenId}`).digest();
  const hue = (at(ofContract, 0) * 360) / 256;
  const colour = (turn: number, light: number) =>
    `hsl(${Math.round(hue + turn) % 360} 45% ${light}%)`;
  const waves = [0, 1, 2, 3].map((index) => {
    const [start, peak, end] = [1, 2, 3].map((part) => at(ofToken, index * 4 + part));
    const base = 26 + index * 18;
    const [left, middle, right] = [start, peak, end].map((byte) => base + ((byte ?? 0) - 128) / 10);
    return `<path d="M0 ${left}C30 ${middle} 60 ${middle} 96 ${right}V96H0z" fill="${colour(index * 14, 62 - index * 11)}"/>`;
  });
  const [x, y, size] = [
    16 + at(ofToken, 20) / 4,
    14 + at(ofToken, 21) / 14,
    5 + at(ofToken, 22) / 28,
  ];
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96"><rect width="96" height="96" fill="${colour(-24, 80)}"/><circle cx="${x}" cy="${y}" r="${size}" fill="${colour(150, 72)}"/>${waves.join("")}</svg>`;
  return { type: "image/svg+xml", bytes: Buffer.from(text) };
}

const at = (bytes: Buffer, index: number): number => bytes[index] ?? 0;
