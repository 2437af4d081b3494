/** How much structure a JSON text may have. */
export type StructureLimits = {
  /** Objects and arrays within one another. */
  readonly maxDepth: number;
  /** Values of any type, each key's and each element's. */
  readonly maxValues: number;
  /** Values of one element of a list that is a field of the body, where its elements are validated one by one. */
  readonly maxItemValues?: number;
};

/** What a JSON text consists of, found without parsing it. */
export type JsonOutline = {
  readonly isTooDeep: boolean;
  readonly hasTooManyValues: boolean;
  /** Elements of the largest list that is a field of the body. */
  readonly items: number;
  /** Byte ranges of elements that are beyond the limits while the rest of the body is not, in order. */
  readonly refusedItems: readonly (readonly [start: number, end: number])[];
};

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Depth of an element of a list that is a field of the body. */
const itemDepth = 3;

/**
 * One pass over the bytes, in constant memory. It only counts: whether the text is JSON is for the parser to say. Runs
 * before the parser, whose work and stack depend on what is counted here.
 */
export function outlineJson(bytes: Uint8Array, limits: StructureLimits): JsonOutline {
  const count = countStructure(limits);
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) index = endOfString(bytes, index);
    else if (byte === comma) count.separate();
    else if (byte === openBrace || byte === openBracket) count.enter(index, byte === openBracket);
    else if (byte === closeBrace || byte === closeBracket) count.leave(index);
  }
  return count.result();
}

function countStructure({ maxDepth, maxValues, maxItemValues }: StructureLimits) {
  const refusedItems: [number, number][] = [];
  let [depth, values, listItems, items] = [0, 0, 0, 0];
  let item = { start: 0, valuesBefore: 0, isTooDeep: false };
  let isTooDeep = false;
  let isInList = false;
  const leaveItem = (index: number) => {
    if (maxItemValues === undefined) return;
    if (!item.isTooDeep && values - item.valuesBefore <= maxItemValues) return;
    refusedItems.push([item.start, index + 1]);
    // It is cut out, so its values do not count for the others.
    values = item.valuesBefore;
  };
  return {
    enter(index: number, isList: boolean): void {
      depth += 1;
      values += 1;
      if (depth === itemDepth - 1) {
        isInList = isList;
        listItems = isList ? 1 : 0;
      }
      if (depth === itemDepth) item = { start: index, valuesBefore: values, isTooDeep: false };
      if (depth > maxDepth) item.isTooDeep = true;
    },
    leave(index: number): void {
      if (depth === itemDepth) {
        leaveItem(index);
        isTooDeep ||= item.isTooDeep && maxItemValues === undefined;
        item.isTooDeep = false;
      }
      if (depth === itemDepth - 1) items = Math.max(items, listItems);
      depth -= 1;
    },
    separate(): void {
      values += 1;
      if (depth === itemDepth - 1 && isInList) listItems += 1;
    },
    result: (): JsonOutline => ({
      // An element that does not end is none.
      isTooDeep: isTooDeep || item.isTooDeep,
      hasTooManyValues: values > maxValues,
      items,
      refusedItems,
    }),
  };
}

/** The index of the closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== quote)
    index += bytes[index] === backslash ? 2 : 1;
  return index;
}

/** The text with those ranges replaced by `null`. */
export function withoutItems(bytes: Buffer, { refusedItems }: JsonOutline): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of refusedItems) {
    parts.push(bytes.toString("utf8", from, start), "null");
    from = end;
  }
  return parts.concat(bytes.toString("utf8", from)).join("");
}
