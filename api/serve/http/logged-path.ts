import type { Request } from "express";

/** The longest path that is kept of a request: a caller may send 16 kB of it with each. */
const maxLength = 300;

/** The path of a request as it is logged: without its query, cut. */
export const loggedPath = ({ baseUrl, path }: Pick<Request, "baseUrl" | "path">): string =>
  (baseUrl + path).slice(0, maxLength);
