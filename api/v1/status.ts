import { z } from "zod";
import { route } from "./context.ts";
import { chainRefusals, optionalChainId } from "./parameters.ts";
import { maskFinding, Status } from "./public-status.ts";

export const status = route(
  {
    method: "get",
    path: "/v1/status",
    operationId: "getStatus",
    tag: "Service",
    reads: "nothing",
    summary: "How far chains are indexed and projections derived",
    query: z.object({ chainId: optionalChainId }),
    data: Status,
    refuses: chainRefusals,
  },
  async (_input, { readStatus }) => {
    const { ready, logPosition, chains, projections, failing } = await readStatus();
    return {
      data: {
        ready,
        logPosition,
        chains: [...chains],
        projections: [...projections],
        failing: failing.map((part) => maskFinding(part)),
      },
    };
  },
);
