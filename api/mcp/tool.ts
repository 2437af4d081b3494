import { z } from "zod";
import { type ChainId, chainById } from "#chains/index.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { LoadClass } from "../http/concurrency.ts";
import type { RequestOrigin, Scope } from "../http/limit.ts";
import type { TypedRoute } from "../http/route.ts";
import { askV1 } from "../v1/ask.ts";
import type { Context } from "../v1/context.ts";

/** What a tool gets: as the endpoints of `/v1`, with its chain and whom it answers. */
export type ToolContext = Context & { readonly chainId: ChainId; readonly from: RequestOrigin };

/** Where a tool without `chainId` looks: on the first chain that is served, or on all of them. */
type Place = "chain" | "chains";

/** Something that a person asks for. */
export type Tool<Arguments extends z.ZodRawShape = z.ZodRawShape> = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly fields: Arguments;
  readonly place: Place;
  /** Preparing needs a key for orders, where keys have scopes, and asks the chain. */
  readonly scope: Extract<Scope, "read" | "orders">;
  readonly loadClass: LoadClass;
  /** Asks others than the database before a snapshot is taken. */
  readonly prepare?: (given: z.output<z.ZodObject<Arguments>>, context: Context) => Promise<void>;
  /** The answer, as JSON; a refusal is an error of the tool. */
  readonly answer: (
    given: z.output<z.ZodObject<Arguments>>,
    context: ToolContext,
  ) => Promise<object | Rejection>;
};

type Written<Arguments extends z.ZodRawShape> = Omit<
  Tool<Arguments>,
  "place" | "scope" | "loadClass"
> &
  Partial<Pick<Tool, "place" | "scope" | "loadClass">>;

/** A tool that reads. */
export function readingTool<Arguments extends z.ZodRawShape>(written: Written<Arguments>): Tool {
  const tool = { place: "chain", scope: "read", loadClass: "lists", ...written } as const;
  return tool as unknown as Tool;
}

/** A tool that makes unsigned steps. */
export function preparingTool<Arguments extends z.ZodRawShape>(written: Written<Arguments>): Tool {
  return readingTool({ ...written, scope: "orders", loadClass: "orders" });
}

/** The arguments of a tool: its own, and the chain. */
export function inputOf({ fields, place }: Pick<Tool, "fields" | "place">, chains: Chains) {
  const legend = chains.map((id) => `${id} ${chainById(id).name}`).join(", ");
  const otherwise = place === "chains" ? "all" : `${chains[0]}`;
  const chainId = z.literal([...chains]).optional();
  return z.strictObject({
    ...fields,
    chainId: chainId.describe(`${legend}. Default: ${otherwise}`),
  });
}
type Chains = readonly ChainId[];

/** The answer on the chain that is named; else of the first chain that has one. */
export async function answerTool(
  { place, answer }: Pick<Tool, "place" | "answer">,
  { chainId, ...given }: { readonly chainId?: ChainId | undefined },
  context: Context & Pick<ToolContext, "from">,
): Promise<object | Rejection> {
  const named = chainId === undefined ? context.chains : [chainId];
  const chains = place === "chains" ? named : named.slice(0, 1);
  let refused: Rejection = reject("unsupported_chain", "No chain is served");
  for (const chain of chains) {
    const answered = await answer(given, { ...context, chainId: chain });
    if (!isRejection(answered)) return answered;
    if (answered.rejected !== "not_found") return answered;
    refused = answered;
  }
  return refused;
}

/** `data` and `meta` of an endpoint of `/v1` on the tool's chain. */
export async function read<Data, Meta>(
  route: TypedRoute<Context, Data, Meta>,
  asked: Omit<Parameters<typeof askV1<Data, Meta>>[1], "from">,
  context: ToolContext,
) {
  return await askV1(route, { ...asked, from: context.from }, context);
}
