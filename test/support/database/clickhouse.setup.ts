import { installPackages } from "#test/support/processes/package-folder.ts";

/** Files side by side find the engine, 543 MB, whole. */
export function setup(): void {
  installPackages("clickhouse");
}
