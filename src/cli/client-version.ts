import { createRequire } from 'node:module'

/**
 * Returns the version of the client that the package names: the client is a part of the command. This file is as deep as the bundle, so
 * that both find the package.
 */
export function clientVersion(): string {
  const { dependencies } = createRequire(import.meta.url)('../../package.json') as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return dependencies['@elastic/elasticsearch'] ?? ''
}
