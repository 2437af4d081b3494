import { maskFinding, maskHosts } from "../views/mask-hosts.ts";
import type { ServiceStatus, Warning } from "./service-status.ts";

type Findings = Pick<ServiceStatus, "failing" | "warnings">;

/** The findings without the hosts of nodes. */
export function maskNodes({ failing, warnings }: Findings) {
  return { failing: failing.map((part) => maskFinding(part)), warnings: warnings.map(maskWarning) };
}

function maskWarning(warning: Warning) {
  if ("endpoints" in warning) return maskFinding(warning);
  if (!("endpoint" in warning)) return warning;
  const { endpoint, kind, message } = warning;
  return { kind, message: maskHosts(message, [endpoint]) };
}
