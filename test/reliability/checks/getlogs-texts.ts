import type { RpcError } from "../node/faults.ts";

/** What real servers say to a range of `eth_getLogs` that is too wide, or whose answer is too large. */
const texts = [
  "Requested range exceeds maximum RPC range limit",
  "Too many logs requested. Max logs per response is 20000.",
  "block range is too large",
  "query block range exceeds server limit",
  "request timed out",
  "execution aborted (timeout = 5s)",
  "eth_getLogs is limited to 0 - 10000 blocks range",
  "max block range is 5000",
  "Log response size exceeded. this block range should work: [0x0, 0x9]",
  "query returned more than 10000 results",
  "Block range is too large",
  "exceed maximum block range: 50000",
  "eth_getLogs is limited to a 10,000 range",
  "query exceeds max block range 1000",
  "query exceeds max results 20000, retry with the range 1-50",
  "Block range limit exceeded. See more details at https://example.org",
];

/** Each with one of the codes that servers give it. */
export const getLogsTexts: readonly RpcError[] = [
  ...texts.map((message, index) => ({
    code: [-32_005, -32_000, -32_602, -32_603][index % 4] ?? -32_000,
    message,
  })),
  { code: -32_000, message: "Request Entity Too Large", status: 413 },
];
