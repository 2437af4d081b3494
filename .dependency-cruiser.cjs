/** The direction of imports (README, "The house"). Data flows one way: chain → log → projections → api. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from, pathNot: "\\.test\\.ts$" },
  to: {
    pathNot: [
      ...allowed,
      "node_modules",
      "^node:",
      "^(fs|path|os|net|http|https|dns|crypto|child_process|url|util|events|stream|timers|module|worker_threads|assert|zlib|buffer|perf_hooks|process|readline)(/|$)",
    ],
  },
});

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^ponder[:/]" },
    },
    only("abis-stand-alone", "^abis/", ["^abis/"], "abis are data"),
    only(
      "src-decodes-only",
      "^(src/|ponder\\.)",
      ["^src/", "^abis/", "^ponder[.:/]"],
      "Ponder stays quarantined",
    ),
    only(
      "domain-is-pure",
      "^projections/domain/",
      ["^projections/domain/", "^abis/"],
      "rules take values and return values",
    ),
    only(
      "log-knows-domain",
      "^projections/log/",
      ["^projections/(log|domain)/", "^projections/database\\.ts$", "^abis/"],
      "the log is below every projection",
    ),
    only(
      "projections-know-log",
      "^projections/",
      ["^projections/", "^abis/"],
      "no network, environment or clock",
    ),
    only(
      "http-knows-no-domain",
      "^api/serve/http/",
      ["^api/serve/http/", "^projections/domain/rejection\\.ts$"],
      "HTTP is about requests and answers, not about orders and tokens",
    ),
    only(
      "chain-and-partners-below",
      "^api/(chain|marketplaces|metadata)/",
      ["^api/(chain|marketplaces|metadata)/", "^api/config\\.ts$", "^projections/", "^abis/"],
      "doors to the outside stand below the endpoints",
    ),
    only(
      "api-stays-inside",
      "^api/",
      ["^api/", "^projections/", "^abis/"],
      "nothing imports devnet, src or test",
    ),
    only(
      "devnet-stands-beside",
      "^devnet/",
      ["^devnet/", "^abis/", "^projections/domain/"],
      "local chains are a stand-in for the outside world",
    ),
    {
      name: "projections-do-no-io",
      comment: "folds read no clock, network or environment",
      severity: "error",
      from: { path: "^projections/", pathNot: "\\.test\\.ts$" },
      to: { path: "^(express|undici|ponder|hono|http|https|net|child_process)$" },
    },
    {
      name: "projection-reads-tables-not-functions",
      comment: "projections meet in tables only, so that each can be rebuilt alone",
      severity: "error",
      from: { path: "^projections/(ownership|sales|activity|collections)/" },
      to: {
        path: "^projections/(ownership|sales|activity|collections)/",
        pathNot: "^projections/$1/",
      },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "devnet/contracts/artifacts" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      extensions: [".ts", ".mts", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default"],
    },
  },
};
