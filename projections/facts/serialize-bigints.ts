/** A value as stored in a payload: bigints are decimal text. */
export type Serialized<Value> = Value extends bigint
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Serialized<Item>[]
    : Value extends object
      ? { [Key in keyof Value]: Serialized<Value[Key]> }
      : Value;

/** Bigints as decimal text, the form of all integers in payloads. */
export function serializeBigints(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(serializeBigints);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, serializeBigints(item)]),
  );
}
