const width = 20;

/** A part of a whole, from 0 to 1, as a bar of a terminal. */
export function barOf(part: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * width);
  return `[${"█".repeat(filled)}${"░".repeat(width - filled)}]`;
}
