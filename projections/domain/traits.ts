/** Types that differ in case or spacing only are one. `traitTypeKey` of projections/traits/normalize.ts says it in SQL. */
export function traitTypeKey(type: string): string {
  return type.replaceAll(/\s+/g, "").toLowerCase();
}
