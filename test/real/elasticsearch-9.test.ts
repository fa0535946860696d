import { ordinarySuites } from '../contracts/suites.js'
import { describeOnRealServers } from './on-real-servers.js'

describeOnRealServers({ major: 9 }, world => {
  for (const suite of ordinarySuites) suite(world)
})
