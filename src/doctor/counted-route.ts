import type { Route } from '../proxy/route.js'

/** Returns the same route, with every request counted. */
export function counted(route: Route, count: () => void): Route {
  return {
    target: route.target,
    form: route.form,
    proxy: route.proxy,
    get traffic() {
      return route.traffic
    },
    request: async request => {
      count()
      return await route.request(request)
    },
    once: async request => {
      count()
      return await route.once(request)
    },
    renewProxy: proxy => route.renewProxy(proxy),
    close: async () => await route.close(),
    destroy: async error => await route.destroy(error),
    [Symbol.asyncDispose]: async () => await route[Symbol.asyncDispose](),
  }
}
