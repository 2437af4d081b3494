import type { Route } from "./route.ts";

/** Tells the paths of routes with media, as Express matches them. */
export function mediaPaths<Context>(
  routes: readonly Pick<Route<Context>, "path" | "mediaTypes">[],
): (path: string) => boolean {
  const patterns = routes
    .filter(({ mediaTypes }) => mediaTypes !== undefined)
    .map(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`, "i"));
  return (path) => patterns.some((pattern) => pattern.test(path));
}
