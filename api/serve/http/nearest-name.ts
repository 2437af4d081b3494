/**
 * The known name that a mistyped one most likely means: by its letters without case and punctuation, then by the fewest
 * letters to change, with two swapped ones as one change. Undefined: none is near. `changesOf`: how many changes a name of
 * so many letters may have.
 */
export function nearestName(
  name: string,
  known: readonly string[],
  changesOf = (letters: number) => Math.max(1, Math.floor(letters / 3)),
): string | undefined {
  const typed = plain(name.slice(0, maxLength));
  let nearest: { readonly name: string; readonly changes: number } | undefined;
  for (const one of known) {
    const changes = changesBetween(typed, plain(one));
    if (changes < (nearest?.changes ?? Number.POSITIVE_INFINITY)) nearest = { name: one, changes };
  }
  if (nearest === undefined) return undefined;
  const longest = Math.max(typed.length, plain(nearest.name).length);
  return nearest.changes <= changesOf(longest) ? nearest.name : undefined;
}

const maxLength = 100;

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function changesBetween(one: string, other: string): number {
  const counts = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const countOf = (row: number, column: number) =>
    counts[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= one.length; row++) {
    counts.push([row]);
    for (let column = 1; column <= other.length; column++) {
      const [letter, otherLetter] = [one[row - 1], other[column - 1]];
      const isSwap = letter === other[column - 2] && otherLetter === one[row - 2];
      const changes = Math.min(
        countOf(row - 1, column - 1) + (letter === otherLetter ? 0 : 1),
        countOf(row - 1, column) + 1,
        countOf(row, column - 1) + 1,
        isSwap ? countOf(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      counts[row]?.push(changes);
    }
  }
  return countOf(one.length, other.length);
}
