import fc from "fast-check";

/** A JSON schema, as far as the document uses it. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};

const uint256 = 2n ** 256n - 1n;
/** Text that means something to a parser, a database or a terminal. */
export const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "\0",
    "'; drop table x;--",
    "%00",
    "..%2f..",
    "\\",
    "[]",
    "null",
    "-0",
    "1e400",
    "__proto__",
  ),
  fc.constantFrom(
    "٣",
    "１",
    "𝟙",
    "\u202e",
    "😀".repeat(50),
    "NaN",
    "true",
    `${uint256 + 1n}`,
    "-1",
    "x".repeat(3_000),
  ),
);
const hostile = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0.5,
    2 ** 53,
    1e300,
    [],
    {},
    [[]],
    { toString: 1 },
    { length: 1e9 },
  ),
  fc.integer({ min: 1, max: 40 }).map(nested),
);

/** Arrays within one another. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

/** Text for the common patterns of the document; any text for others. */
function textOf({ pattern, maxLength = 60 }: Schema): fc.Arbitrary<unknown> {
  if (pattern === undefined)
    return fc.oneof(fc.string({ maxLength }), fc.constant("x".repeat(maxLength)));
  const bytes = /\{(40|64|8)\}/.exec(pattern)?.[1];
  if (bytes !== undefined) {
    const length = Number(bytes);
    return fc
      .string({
        unit: fc.constantFrom(..."0123456789abcdefABCDEF"),
        minLength: length,
        maxLength: length,
      })
      .map((digits) => `0x${digits}`);
  }
  return fc
    .oneof(fc.bigInt({ min: 0n, max: uint256 }), fc.constantFrom(0n, 1n, uint256))
    .map(String);
}

function numberOf({ minimum = -10, maximum = 1e6 }: Schema, type: string): fc.Arbitrary<unknown> {
  const bounds = fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1);
  const within = { min: Math.ceil(minimum), max: Math.floor(maximum) };
  if (type === "integer") return fc.oneof(fc.integer(within), bounds);
  return fc.oneof(fc.double({ min: minimum, max: maximum, noNaN: true }), bounds);
}

function objectOf(
  { properties = {}, required = [] }: Schema,
  depth: number,
): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, drawnFrom(schema, depth + 1)] as const,
  );
  return fc.record(Object.fromEntries(fields), {
    requiredKeys: required.filter((name) => name in properties),
  });
}

function listOf({ items = {}, minItems = 0, maxItems = 20 }: Schema, depth: number) {
  const one = drawnFrom(items, depth + 1);
  const lengths = depth < 2 ? [minItems, 3, maxItems, maxItems + 1] : [minItems, 2];
  return fc
    .tuple(fc.constantFrom(...lengths), fc.array(one, { minLength: 1, maxLength: 3 }))
    .map(([length, some]) => Array.from({ length }, (_, index) => some[index % some.length]));
}

/** Values that a schema accepts, at its bounds, just beyond them, and sometimes anything else. */
export function drawnFrom(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: fittingOf(schema, depth) },
    { weight: 1, arbitrary: hostile },
  );
}

/** Values that a schema accepts, or just beyond its bounds. */
export function fittingOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const { enum: known, anyOf, oneOf, type } = schema;
  if ("const" in schema) return fc.constant(schema.const);
  if (known !== undefined) return fc.constantFrom(...known);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((one) => fittingOf(one, depth)));
  const [named] = Array.isArray(type) ? type : [type];
  if (named === "object") return objectOf(schema, depth);
  if (named === "array") return listOf(schema, depth);
  if (named === "integer" || named === "number") return numberOf(schema, named);
  if (named === "boolean") return fc.boolean();
  return named === "string" ? textOf(schema) : hostile;
}
