import { concatHex, type Hex, numberToHex, size } from "viem";

/** How a contract answers: with bytes, by reverting with bytes, by never ending, or with so many zeros. */
export type MadeAnswer = Hex | { reverts: Hex } | "endless" | { zeros: number };

const three = (value: number) => numberToHex(value, { size: 3 });
const [bodySize, fallbackSize] = [19, 5];
const testSize = (prefix: Hex) => 12 + size(prefix);

/** Code that answers calldata by the beginning that it has (4 bytes or more), and reverts at anything else. */
export function answeringCode(answers: ReadonlyMap<Hex, MadeAnswer>): Hex {
  const entries = [...answers];
  const bodiesAt = entries.reduce((sum, [prefix]) => sum + testSize(prefix), 0) + fallbackSize;
  let dataAt = bodiesAt + entries.length * bodySize;
  const tests: Hex[] = [];
  const bodies: Hex[] = [];
  const data: Hex[] = [];
  entries.forEach(([prefix, answer], index) => {
    const bodyAt = bodiesAt + index * bodySize;
    tests.push(testCode(prefix, bodyAt));
    bodies.push(bodyOf(answer, bodyAt, dataAt));
    const bytes = bytesOf(answer);
    data.push(bytes);
    dataAt += size(bytes);
  });
  return concatHex([...tests, "0x60006000fd", ...bodies, ...data]);
}

/** calldataload(0) >> (256 - 8 n) == prefix → jump to its answer. */
function testCode(prefix: Hex, bodyAt: number): Hex {
  const length = size(prefix);
  const [shift, push] = [256 - 8 * length, 0x5f + length].map((one) =>
    numberToHex(one, { size: 1 }),
  );
  return concatHex([
    ...(["0x60003560", shift, "0x1c", push, prefix, "0x1461"] as Hex[]),
    ...[numberToHex(bodyAt, { size: 2 }), "0x57" as const],
  ]);
}

function bytesOf(answer: MadeAnswer): Hex {
  if (typeof answer === "string") return answer === "endless" ? "0x" : answer;
  return "reverts" in answer ? answer.reverts : "0x";
}

function bodyOf(answer: MadeAnswer, bodyAt: number, dataAt: number): Hex {
  const padded = (code: Hex) => concatHex([code, `0x${"00".repeat(bodySize - size(code))}`]);
  if (answer === "endless")
    return padded(concatHex(["0x5b61", numberToHex(bodyAt, { size: 2 }), "0x56"]));
  if (typeof answer === "object" && "zeros" in answer)
    return padded(concatHex(["0x5b62", three(answer.zeros), "0x6000f3"]));
  const length = three(size(bytesOf(answer)));
  const end = typeof answer === "object" ? "0x6000fd" : "0x6000f3";
  // jumpdest; codecopy(0, dataAt, length); return(0, length) or revert(0, length)
  return padded(concatHex(["0x5b62", length, "0x62", three(dataAt), "0x60003962", length, end]));
}

export type MadeLog = { topics: readonly Hex[]; data: Hex };

/** Code that emits logs, whatever it is called with. */
export function emittingCode(logs: readonly MadeLog[]): Hex {
  const sizeOf = ({ topics }: MadeLog) => 11 + 33 * topics.length + 7;
  let dataAt = logs.reduce((sum, log) => sum + sizeOf(log), 0) + 1;
  const code = logs.map((log) => {
    const length = three(size(log.data));
    const topics = log.topics.toReversed().map((topic) => concatHex(["0x7f", topic]));
    const copied = concatHex(["0x62", length, "0x62", three(dataAt), "0x600039"]);
    dataAt += size(log.data);
    const end = numberToHex(0xa0 + log.topics.length, { size: 1 });
    return concatHex([copied, ...topics, "0x62", length, "0x6000", end]);
  });
  return concatHex([...code, "0x00", ...logs.map(({ data }) => data)]);
}
