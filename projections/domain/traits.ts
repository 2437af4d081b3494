/** Types that differ only in case or spacing are the same; `projections/traits/trait-keys.ts` is the same rule in SQL. */
export function traitTypeKey(type: string): string {
  return type.replaceAll(/\s+/g, "").toLowerCase();
}
