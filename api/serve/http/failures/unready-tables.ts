import type { ErrorRequestHandler } from "express";

/** A read needs tables of this release's projections, while those of another release are still served. */
export class TablesNotReady extends Error {}

/** What a read failed with: `TablesNotReady` where a table or column is missing that is still to be derived. */
export type ExplainFailure = (error: unknown) => Promise<unknown>;

export function explainErrors(explain: ExplainFailure): ErrorRequestHandler {
  return (error: unknown, _request, _response, next) => {
    explain(error).then(next, next);
  };
}
