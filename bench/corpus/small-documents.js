import { clock, methods, phrase, services, statuses } from './words.js'

/** Flat events of about 145 bytes, each with a numeric `id`: what a document costs, rather than a byte, shows here. */
export function smallDocuments(random) {
  const time = clock(random)
  let number = 0
  return () => {
    number += 1
    return {
      time: time(),
      id: number,
      host: `${random.pick(services)}-${random.below(90) + 10}`,
      method: random.pick(methods),
      status: random.pick(statuses),
      ms: random.below(1e6) / 1000,
      text: phrase(random, 2 + random.below(4)),
    }
  }
}
