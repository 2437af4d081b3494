/** CommonJS packages call `require` for Node's own modules. */
export const requireOfBuild = {
  js: 'import { createRequire as createRequireOfBuild } from "node:module"; const require = createRequireOfBuild(import.meta.url);',
};
