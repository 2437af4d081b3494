type FilterValue = string | readonly string[] | null | undefined;

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/**
 * Whether an address or a topic is what a filter of the configuration asks for, in lower case; a filter without one takes
 * all. In place of Ponder's own, which compares each log with each of a thousand addresses.
 */
export function isValueMatched(filterValue: FilterValue, eventValue: string | undefined): boolean {
  if (filterValue === null || filterValue === undefined) return true;
  if (eventValue === undefined) return false;
  if (filterValue === eventValue) return true;
  const value = eventValue.toLowerCase();
  return typeof filterValue === "string" ? filterValue === value : setOf(filterValue).has(value);
}

function setOf(values: readonly string[]): ReadonlySet<string> {
  const found = sets.get(values);
  if (found?.size === values.length) return found;
  const made = new Set(values);
  sets.set(values, made);
  return made;
}
