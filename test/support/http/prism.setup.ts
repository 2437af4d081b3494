import { installPackages } from "#test/support/processes/package-folder.ts";

export function setup(): void {
  installPackages("prism");
}
