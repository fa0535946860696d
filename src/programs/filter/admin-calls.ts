/** The requests to the administration API, for deployments and for serverless projects. */
import type { Policy } from './policy.js'
import type { AdminAnswer, AdminRequest, Deployment } from './read-policy.js'

/** Sends a request. Resolves to an answer that grants it. */
export type SendToAdmin = (request: AdminRequest) => Promise<AdminAnswer>

/**
 * Every method throws SluiceError: FILTER_API_KEY_REJECTED, FILTER_API_REFUSED, FILTER_API_UNAVAILABLE. After the
 * last one, and after an abort, a change may still have been carried out.
 */
export interface AdminCalls {
  /** The kind of thing that policies are attached to. */
  readonly noun: 'deployment' | 'project'
  deployment(id: string): Promise<Deployment>
  policies(): Promise<readonly Policy[]>
  policy(id: string): Promise<Policy>
  attachedTo(deployment: string): Promise<readonly Policy[]>
  /** Creates an IP filter policy, attached to nothing. Resolves to its id. */
  create(policy: Pick<Policy, 'name' | 'region' | 'rules' | 'includeByDefault'>): Promise<string>
  /** Writes the whole policy with its rules. Parts that are left out are deleted. */
  replace(policy: Policy): Promise<void>
  /** False: it was attached before. */
  attach(policy: string, deployment: string): Promise<boolean>
  /** False: it was not attached. */
  detach(policy: string, deployment: string): Promise<boolean>
}
