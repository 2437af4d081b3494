import { z } from "zod";

const seconds = z.number().min(0);
const block = z.object({ number: z.int(), hash: z.string(), timestamp: z.int() });

const indexer = z
  .object({
    indexer: z.string().meta({ description: "`core`, or the name of what was added later." }),
    exchanges: z.array(z.string()).meta({ description: "Protocols, as sales name them." }),
    collections: z.int().meta({ description: "Collections whose transfers it indexes by name." }),
    state: z.enum(["following", "catching_up"]).meta({
      description:
        "`catching_up`: an added source's history is being indexed; all else is current.",
    }),
    indexed: z.int().nullable().meta({ description: "Last block indexed." }),
    remainingBlocks: z.int().nullable(),
    remainingSeconds: z.int().nullable().meta({ description: "An estimate, while catching up." }),
  })
  .meta({ id: "IndexerStatus" });

const history = z
  .object({
    firstBlock: z.int().meta({ description: "Where the indexed history begins." }),
    provedFrom: z.int(),
    provedTo: z.int(),
    share: z.number().min(0).max(1).nullable().meta({
      description:
        "Part of the history up to `provedTo` that is proved without a gap; null where headers prove nothing.",
    }),
    evidence: z.enum(["receipts", "blooms"]).nullable().meta({
      description:
        "What a block's logs were held against: the receipts' root, or the logs' bloom, of a header that the next block names.",
    }),
    sampledBlocks: z
      .int()
      .meta({ description: "Blocks below `provedFrom` that were drawn at random and proved." }),
    repaired: z.int().meta({
      description: "Blocks that differed and were mended.",
    }),
    unrepaired: z.int().meta({ description: "Blocks that differ now." }),
    repairedAt: z.int().nullable().meta({ description: "Unix seconds." }),
  })
  .meta({
    id: "HistoryProof",
    description: "How far the log is proved to hold what the chain said.",
  });

const chain = z.object({
  chainId: z.int(),
  head: block.nullable(),
  indexed: block
    .extend({ hash: z.string().nullable().meta({ description: "null while no node answers." }) })
    .nullable(),
  recorded: block
    .omit({ timestamp: true })
    .nullable()
    .meta({ description: "The highest block with events in the log." }),
  finalized: z
    .object({
      number: z.int(),
      saidBy: z.enum(["tag", "depth"]).nullable().meta({
        description:
          "`tag`: the nodes' `finalized` block. `depth`: no node serves it; as many blocks below the head as the tag ever was. null: not asked yet.",
      }),
    })
    .nullable(),
  lagBlocks: z.int().nullable(),
  lagSeconds: seconds.nullable(),
  indexers: z.array(indexer),
  history: history.nullable().meta({ description: "null before the first proved block." }),
});

const projection = z.object({
  name: z.string(),
  version: z.int(),
  position: z.int(),
  lag: z.int().meta({ description: "Facts that are not applied yet." }),
  lagSeconds: seconds.meta({ description: "Since the oldest of these was seen in the log." }),
});

const failingPart = z.object({
  part: z.string(),
  message: z.string(),
  behind: z
    .object({ blocks: z.int().optional(), positions: z.int().optional(), seconds })
    .optional(),
});

export const Status = z
  .object({
    ready: z.boolean(),
    logPosition: z.int().nullable().meta({ description: "The position of the log's newest fact." }),
    chains: z.array(chain),
    projections: z.array(projection),
    failing: z.array(failingPart),
  })
  .meta({ id: "Status" });

/** The part of the service's status that is public. */
export type PublicStatus = {
  readonly ready: boolean;
  readonly logPosition: number | null;
  readonly chains: readonly z.output<typeof chain>[];
  readonly projections: readonly z.output<typeof projection>[];
  readonly failing: readonly z.output<typeof failingPart>[];
};

type Finding = { readonly message: string; readonly endpoints?: readonly string[] };

/** A finding without the hosts of nodes: an attacker who knows them stops the nodes instead of the service. */
export function maskFinding<Part extends Finding>(part: Part): Omit<Part, "endpoints"> & Finding {
  const { endpoints, ...others } = part;
  return { ...others, message: maskHosts(part.message, endpoints ?? []) };
}

/** The longest first: one host may be the end of another. */
export function maskHosts(message: string, hosts: readonly string[]): string {
  const longestFirst = hosts.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((text, host) => text.replaceAll(host, "a node"), message);
}
