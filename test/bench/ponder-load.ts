import { Pool } from "undici";

/** What one process asks of another, again and again, on so many connections. */
export type Load = {
  baseUrl: string;
  path: string;
  /** Of a POST. */
  body?: string;
  headers?: Record<string, string>;
  /** Each request has an address of its own, by a parameter that says nothing. */
  isVaried?: boolean;
  connections: number;
  seconds: number;
};

export type LoadFigures = {
  requests: number;
  tookMs: number;
  p50Ms: number;
  p99Ms: number;
  /** Of one answer. */
  bytes: number;
  statuses: number[];
};

process.on("message", (load) => {
  loadOf(load as Load).then(
    (figures) => process.send?.(figures),
    (error: unknown) => {
      process.stderr.write(`${error}\n`);
      process.exit(1);
    },
  );
});
process.on("disconnect", () => process.exit(0));

async function loadOf({
  baseUrl,
  connections,
  seconds,
  isVaried = false,
  ...asked
}: Load): Promise<LoadFigures> {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const durations: number[] = [];
  const statuses = new Set<number>();
  let bytes = 0;
  const begun = performance.now();
  const until = begun + seconds * 1_000;
  const keepAsking = async () => {
    while (performance.now() < until) {
      const sent = performance.now();
      const { statusCode, body } = await pool.request(
        requestOf(
          isVaried ? { ...asked, path: `${asked.path}&nth=${durations.length}-${sent}` } : asked,
        ),
      );
      bytes = (await body.arrayBuffer()).byteLength;
      durations.push(performance.now() - sent);
      statuses.add(statusCode);
    }
  };
  await Promise.all(Array.from({ length: connections }, keepAsking));
  const tookMs = performance.now() - begun;
  await pool.close();
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  const requests = sorted.length;
  return { requests, tookMs, p50Ms: at(0.5), p99Ms: at(0.99), bytes, statuses: [...statuses] };
}

function requestOf({ path, body, headers }: Pick<Load, "path" | "body" | "headers">) {
  if (body === undefined) return { path, method: "GET", headers: headers ?? {} } as const;
  return {
    ...({ path, method: "POST", body } as const),
    headers: { "content-type": "application/json", ...headers },
  };
}
