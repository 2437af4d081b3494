import type { ServiceStatus } from "./service-status.ts";
import type { StatusReader } from "./status-reader.ts";

/** The status of one of several databases, and the chains that it serves. */
export type CellStatus = { readonly chains: readonly number[]; readonly readStatus: StatusReader };

/** The status of the service as that of all its databases. What is of one of several is named by its chains. */
export function joinStatuses(cells: () => readonly CellStatus[]): StatusReader {
  return async () => {
    const read = cells();
    const [only, ...others] = read;
    if (only !== undefined && others.length === 0) return only.readStatus();
    return join(
      await Promise.all(
        read.map(async ({ chains, readStatus }) => ofChains(chains, await readStatus())),
      ),
    );
  };
}

function join(statuses: readonly ServiceStatus[]): ServiceStatus {
  const heads = statuses.flatMap(({ logPosition }) => logPosition ?? []);
  return {
    ready: statuses.every(({ ready }) => ready),
    failing: statuses.flatMap(({ failing }) => failing),
    warnings: statuses.flatMap(({ warnings }) => warnings),
    logPosition: heads.length === statuses.length ? Math.max(...heads) : null,
    chains: statuses.flatMap(({ chains }) => chains),
    projections: statuses.flatMap(({ projections }) => projections),
  };
}

/** Parts of a chain have its id in their names; others get it here. */
function ofChains(chains: readonly number[], status: ServiceStatus): ServiceStatus {
  const named = <Part extends { readonly part: string }>(one: Part): Part =>
    one.part.startsWith("chain ") ? one : { ...one, part: `${one.part} of ${textOf(chains)}` };
  return {
    ...status,
    failing: status.failing.map(named),
    warnings: status.warnings.map((one) => ("part" in one ? named(one) : one)),
    projections: status.projections.map((one) => ({ ...one, chains: [...chains] })),
  };
}

const textOf = (chains: readonly number[]) => chains.map((chain) => `chain ${chain}`).join(", ");
