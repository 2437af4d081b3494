import type { Config } from "./config.ts";

/** Address of the API for processes on this machine; `BASE_URL` may lead through a proxy. */
export function listeningUrl({ host, port }: Pick<Config["http"], "host" | "port">): string {
  const name = ["0.0.0.0", "::"].includes(host) ? "localhost" : host;
  const authority = name.includes(":") ? `[${name}]` : name;
  return `http://${authority}:${port}`;
}
