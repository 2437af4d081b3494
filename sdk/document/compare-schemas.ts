import { type Document, type Schema, type Variant, valuesOf, variantsOf } from "./schema.ts";

/** Two documents, and whether the schemas are of what a caller sends or of what it is answered. */
export type Comparison = {
  readonly released: Document;
  readonly today: Document;
  readonly direction: "input" | "output";
};

/**
 * Changes from a released schema to today's that break a caller, each as `place: what`. Of input, everything that was
 * accepted must still be; of output, no field may go, and no type may be added or go. New fields of output, new
 * optional fields of input and new values of an enum are no breaks: callers accept them.
 */
export function compareSchemas(
  comparison: Comparison,
  place: string,
  released: Schema,
  today: Schema,
): string[] {
  const before = variantsOf(comparison.released, released);
  const now = variantsOf(comparison.today, today);
  const known = visited.get(released);
  if (known?.has(today)) return [];
  visited.set(released, (known ?? new WeakSet()).add(today));
  try {
    return [
      ...before.flatMap((variant) => compareVariant(comparison, place, variant, now)),
      ...(comparison.direction === "output" ? addedTypes(place, before, now) : []),
    ];
  } finally {
    visited.get(released)?.delete(today);
  }
}

/** Pairs that are being compared: schemas may contain themselves. */
const visited = new WeakMap<Schema, WeakSet<Schema>>();

/** The differences from the alternative of today that differs least. */
function compareVariant(
  comparison: Comparison,
  place: string,
  before: Variant,
  now: readonly Variant[],
): string[] {
  const isOutput = comparison.direction === "output";
  const candidates = now.filter(({ type }) => fits(before.type, type, isOutput));
  if (candidates.length === 0) {
    // A reader that expects null is not surprised by its absence.
    if (isOutput && before.type === "null") return [];
    return [`${place}: ${isOutput ? "is never" : "no longer accepts"} ${before.type}`];
  }
  const differences = candidates.map(({ schema }) =>
    compareOne(comparison, place, before.schema, schema, before.type),
  );
  return differences.reduce((least, one) => (one.length < least.length ? one : least));
}

function fits(before: string, now: string, isOutput: boolean): boolean {
  if (before === now) return true;
  if (isOutput) return before === "any" || (before === "number" && now === "integer");
  return now === "any" || (before === "integer" && now === "number");
}

function addedTypes(place: string, before: readonly Variant[], now: readonly Variant[]): string[] {
  const added = now.filter(({ type }) => !before.some((one) => fits(one.type, type, true)));
  return [...new Set(added.map(({ type }) => type))].map((type) => `${place}: may now be ${type}`);
}

function compareOne(
  comparison: Comparison,
  place: string,
  before: Schema,
  now: Schema,
  type: string,
): string[] {
  const changes = compareValues(comparison, place, before, now);
  if (comparison.direction === "input") changes.push(...newLimits(place, before, now));
  else if (before.format !== now.format) changes.push(`${place}: format was ${before.format}`);
  if (type === "object") changes.push(...compareObjects(comparison, place, before, now));
  if (type === "array" && before.items !== undefined && now.items !== undefined)
    changes.push(...compareSchemas(comparison, `${place}[]`, before.items, now.items));
  return changes;
}

function compareValues(
  { direction }: Comparison,
  place: string,
  before: Schema,
  now: Schema,
): string[] {
  const [had, has] = [valuesOf(before), valuesOf(now)];
  if (had === undefined)
    return has === undefined || direction === "output" ? [] : [`${place}: only ${has.join(", ")}`];
  if (has === undefined) return direction === "input" ? [] : [`${place}: may now be any value`];
  return had
    .filter((value) => value !== null && !has.includes(value))
    .map((value) => `${place}: ${JSON.stringify(value)} is gone`);
}

const lowerLimits = ["minimum", "minLength", "minItems"] as const;
const upperLimits = ["maximum", "maxLength", "maxItems"] as const;

function newLimits(place: string, before: Schema, now: Schema): string[] {
  const raised = lowerLimits.filter(
    (name) => (now[name] ?? -Infinity) > (before[name] ?? -Infinity),
  );
  const lowered = upperLimits.filter(
    (name) => (now[name] ?? Infinity) < (before[name] ?? Infinity),
  );
  const isOtherText = now.pattern !== undefined && now.pattern !== before.pattern;
  return [...raised, ...lowered, ...(isOtherText ? (["pattern"] as const) : [])].map(
    (name) => `${place}: ${name} is now ${now[name]}`,
  );
}

function compareObjects(
  comparison: Comparison,
  place: string,
  before: Schema,
  now: Schema,
): string[] {
  const [had, has] = [before.additionalProperties, now.additionalProperties];
  const areMaps = typeof had === "object" && typeof has === "object";
  return [
    ...compareFields(comparison, place, before, now),
    ...(comparison.direction === "input"
      ? added(before.required, now.required).map((name) => `${place}.${name}: is now required`)
      : added(now.required, before.required)
          .filter((name) => now.properties?.[name] !== undefined)
          .map((name) => `${place}.${name}: may now be absent`)),
    ...(areMaps ? compareSchemas(comparison, `${place}.*`, had, has) : []),
  ];
}

function compareFields(
  comparison: Comparison,
  place: string,
  before: Schema,
  now: Schema,
): string[] {
  const isOpen = comparison.direction === "input" && now.additionalProperties !== false;
  return Object.entries(before.properties ?? {}).flatMap(([name, schema]) => {
    const today = now.properties?.[name];
    const at = `${place}.${name}`;
    if (today !== undefined) return compareSchemas(comparison, at, schema, today);
    return isOpen ? [] : [`${at}: is gone`];
  });
}

function added(before: readonly string[] = [], now: readonly string[] = []): string[] {
  return now.filter((name) => !before.includes(name));
}
