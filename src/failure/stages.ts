/** The parts of the path, in its order, as headings call them. */
export const stages = {
  options: 'Options',
  input: 'Inputs and documents',
  proxy: 'The proxy',
  egress: 'Addresses and the IP filter',
  cluster: 'The cluster',
  index: 'The index',
  servicenow: 'ServiceNow',
  run: 'The run',
} as const

export type Stage = keyof typeof stages
