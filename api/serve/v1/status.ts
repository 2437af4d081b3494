import { Status } from "../views/service-status.ts";
import { route } from "./routing/context.ts";

export const status = route(
  {
    method: "get",
    path: "/v1/status",
    tag: "Service",
    summary: "How far chains are indexed and projections derived",
    data: Status,
    refuses: {},
  },
  async (_input, { readStatus }) => {
    const { ready, logPosition, chains, projections, failing } = await readStatus();
    return {
      data: {
        ready,
        logPosition,
        chains: [...chains],
        projections: [...projections],
        failing: [...failing],
      },
    };
  },
);
