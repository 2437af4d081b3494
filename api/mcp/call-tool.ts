import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Request, Response } from "express";
import type { Logger } from "pino";
import type { ChainId } from "#chains/index.ts";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import type { ApiProfile } from "../http/api-profile.ts";
import { databaseRefusal, type ExplainFailure } from "../http/failures.ts";
import { keyOf } from "../http/limit.ts";
import { scopeRefusal } from "../http/mount.ts";
import { callerAddress, requestIdOf } from "../http/request.ts";
import type { Context } from "../v1/context.ts";
import { answerTool, type Tool } from "./tool.ts";

/** The request that a tool is called by, and what it is answered with. */
export type Answering = {
  readonly request: Request;
  readonly response: Response;
  readonly profile: Pick<ApiProfile, "slowRequests"> & Required<Pick<ApiProfile, "reads">>;
  readonly logger: Logger;
  readonly explain: ExplainFailure;
};

type Given = { readonly chainId?: ChainId | undefined };

/** Calls a tool: what it tells as JSON, or the code and words of a refusal. Never throws. */
export async function callTool(
  tool: Tool,
  given: Given,
  context: Context,
  answering: Answering,
): Promise<CallToolResult> {
  try {
    const answered =
      scopeRefusal(tool.scope, answering.response) ??
      (await readFor(tool, given, context, answering));
    return isRejection(answered) ? told(answered) : textOf(JSON.stringify(answered), false);
  } catch (error) {
    return told(await refusalOf(error, answering));
  }
}

/** Reads are of one snapshot; steps are prepared from the primary database, as the chain is asked meanwhile. */
async function readFor(
  tool: Tool,
  given: Given,
  context: Context,
  { request, response, profile: { reads, slowRequests } }: Answering,
) {
  const from = { address: callerAddress(request), key: keyOf(response) };
  const { loadClass, scope } = tool;
  if (scope === "orders" || reads === undefined) {
    const db = reads?.primary.dbOf(loadClass) ?? context.db;
    return answerTool(tool, given, { ...context, db, from });
  }
  await tool.prepare?.(given, context);
  const work = () =>
    reads.inSnapshot({ loadClass, atLeast: 0n }, ({ db }) =>
      answerTool(tool, given, { ...context, db, from }),
    );
  const named = `${tool.name}?${encodeURIComponent(JSON.stringify(given))}`;
  return slowRequests === undefined ? work() : slowRequests.read(named, work);
}

async function refusalOf(error: unknown, answering: Answering): Promise<Rejection> {
  const { response, logger, explain } = answering;
  const explained = await explain(error);
  const refusal = databaseRefusal(explained, answering);
  if (refusal !== undefined) return refusal;
  logger.error({ err: explained, requestId: requestIdOf(response) }, "tool call failed");
  return reject("internal", "Internal error");
}

const told = ({ rejected, message }: Rejection) => textOf(`${rejected}: ${message}`, true);

const textOf = (text: string, isError: boolean): CallToolResult => ({
  content: [{ type: "text", text }],
  ...(isError && { isError }),
});
