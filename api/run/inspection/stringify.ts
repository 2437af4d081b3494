/** JSON in which bigints are decimal strings. */
export function stringify(content: unknown, indent?: number): string {
  return JSON.stringify(
    content,
    (_, value) => (typeof value === "bigint" ? `${value}` : value),
    indent,
  );
}
