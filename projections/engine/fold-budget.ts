/** Facts that are folded for one answer at most; beyond it the caller is refused. */
export const mostFolded = 200_000;

/** More has to be folded than one answer may cost. */
export class TooMuchToFold extends Error {}

export function assertFoldable(...counts: readonly number[]): void {
  if (counts.some((count) => count > mostFolded)) throw new TooMuchToFold();
}
