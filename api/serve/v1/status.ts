import { z } from "zod";
import { route } from "./context.ts";

const seconds = z.number().min(0);
const block = z.object({ number: z.int(), hash: z.string(), timestamp: z.int() });

const Status = z
  .object({
    ready: z.boolean(),
    logPosition: z.int().nullable().meta({ description: "Facts in the log." }),
    chains: z.array(
      z.object({
        chainId: z.int(),
        head: block.nullable(),
        indexed: block.extend({ hash: z.string().nullable() }).nullable(),
        recorded: block
          .omit({ timestamp: true })
          .nullable()
          .meta({ description: "The highest block that the log holds facts of." }),
        finalized: z.object({ number: z.int() }).nullable(),
        lagBlocks: z.int().nullable(),
        lagSeconds: seconds.nullable(),
      }),
    ),
    projections: z.array(
      z.object({
        name: z.string(),
        version: z.int(),
        position: z.int(),
        lag: z.int().meta({ description: "Facts not read yet." }),
        lagSeconds: seconds,
      }),
    ),
    failing: z.array(
      z.object({
        part: z.string(),
        message: z.string(),
        behind: z
          .object({ blocks: z.int().optional(), positions: z.int().optional(), seconds })
          .optional(),
      }),
    ),
  })
  .meta({ id: "Status" });

export const status = route(
  {
    method: "get",
    path: "/v1/status",
    tag: "Service",
    summary: "How far the chains are indexed and the projections are derived",
    data: Status,
    refuses: {},
  },
  async (_input, { readStatus }) => {
    const { warnings: _warnings, ...data } = await readStatus();
    return {
      data: {
        ...data,
        chains: [...data.chains],
        projections: [...data.projections],
        failing: [...data.failing],
      },
    };
  },
);
