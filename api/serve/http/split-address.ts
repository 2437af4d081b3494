/**
 * A request's path and its query, without the question mark between them: the first one. A query may hold others, and is
 * parsed with all that follows.
 */
export function splitAddress(address: string): readonly [path: string, query: string] {
  const end = address.indexOf("?");
  return end < 0 ? [address, ""] : [address.slice(0, end), address.slice(end + 1)];
}
