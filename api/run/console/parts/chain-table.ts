import type { Html } from "#api/pages/kit/html.ts";
import { table } from "#api/pages/kit/panel.ts";
import type { ServiceProgress } from "#api/run/inspection/read-status.ts";

type Chain = ServiceProgress["chains"][number];

const columns = [
  ["head", "Head"],
  ["indexed", "Indexed"],
  ["recorded", "Recorded"],
  ["finalized", "Final"],
  ["lagBlocks", "Lag, blocks"],
  ["lagSeconds", "Lag, s"],
  ["proved", "History proved"],
] as const satisfies readonly (readonly [keyof Chain, string])[];

/** How far the chains are, as `op status` prints it. */
export const chainTable = (chains: readonly Chain[]): Html =>
  table(
    chains,
    [
      { head: "Chain", cell: ({ chainId }) => chainId, isHead: true },
      ...columns.map(([name, head]) => ({
        head,
        cell: (chain: Chain) => chain[name] ?? "unknown",
        isNumber: true,
      })),
    ],
    { caption: "Chains", keyOf: ({ chainId }) => `${chainId}` },
  );
