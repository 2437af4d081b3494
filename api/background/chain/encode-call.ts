import { type Abi, encodeFunctionData, type Hex, prepareEncodeFunctionData } from "viem";

type Prepared = { abi: Abi; functionName: Hex };
const prepared = new WeakMap<object, Map<string, Prepared>>();

/** viem's `encodeFunctionData`, hashing each function's signature once: a batch of queries encodes hundreds of calls. */
export const encodeCall: typeof encodeFunctionData = (parameters) => {
  const { abi, functionName, args } = parameters as {
    abi: Abi;
    functionName: string;
    args?: readonly unknown[];
  };
  const known = prepared.get(abi) ?? new Map<string, Prepared>();
  prepared.set(abi, known);
  // Overloads differ in their number of arguments.
  const key = `${functionName}/${args?.length ?? 0}`;
  const found =
    known.get(key) ?? (prepareEncodeFunctionData({ abi, functionName, args }) as Prepared);
  known.set(key, found);
  return encodeFunctionData({ ...found, args } as Parameters<typeof encodeFunctionData>[0]);
};
