import { type Socket, connect } from 'node:net'
import type { FaultPlan } from '../faults.js'
import { type Arrival, type Listening, listen, reset } from '../listener.js'
import { joinTunnel } from '../proxy/tunnel.js'

export interface InboundOptions {
  readonly faults: FaultPlan
  readonly onArrival: (arrival: Arrival) => void
}

/** The static inbound entry: one permanent address in front of an application. The application may be absent. */
export interface Inbound extends Listening {
  /** Port of the application on this machine. Undefined if there is none. */
  readonly applicationPort: number | undefined
  /** Forwards further connections to this port. Undefined: closes them. */
  forwardTo(port: number | undefined): void
}

/**
 * Starts the entry. It forwards bytes unread, so TLS ends at the application. The application sees the address of the
 * entry, not of the caller.
 */
export async function startInbound({ faults, onArrival }: InboundOptions): Promise<Inbound> {
  let applicationPort: number | undefined
  const listening = await listen({
    at: 'inbound',
    name: 'tcp',
    port: 0,
    admit(arrival) {
      onArrival(arrival)
      return true
    },
    serve(caller, arrival) {
      if (applicationPort === undefined) return void caller.end()
      forward(caller, arrival, applicationPort)
    },
  })
  return {
    ...listening,
    get applicationPort() {
      return applicationPort
    },
    forwardTo(port) {
      applicationPort = port
    },
  }

  function forward(caller: Socket, arrival: Arrival, port: number): void {
    const application = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true })
    // Handles errors before the connection is open. Nothing else listens for them.
    const giveUp = (): void => reset(arrival)
    application.once('error', giveUp)
    application.once('connect', () => {
      application.off('error', giveUp)
      if (caller.destroyed) return void application.destroy()
      arrival.requests += 1
      joinTunnel(caller, application, arrival, faults, Buffer.alloc(0), 'inboundCut')
    })
  }
}
