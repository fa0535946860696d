/** @peculiar/x509 refuses to load without Reflect's metadata functions; this is as much of them as it uses. */
const metadata = new WeakMap<object, Map<unknown, unknown>>()
const getMetadata = (key: unknown, target: object): unknown => metadata.get(target)?.get(key)
const defineMetadata = (key: unknown, value: unknown, target: object): void => {
  metadata.set(target, (metadata.get(target) ?? new Map<unknown, unknown>()).set(key, value))
}
if (!('getMetadata' in Reflect)) Object.assign(Reflect, { getMetadata, getOwnMetadata: getMetadata, defineMetadata })
