// @module-tag long
import { openIndependentOauth } from '../../contracts/independent-oauth-world.js'
import { openLabOauth } from '../../contracts/lab-oauth-world.js'
import { describeOauth } from '../../contracts/oauth.suite.js'

describeOauth('the lab', openLabOauth)
describeOauth('an independent server', openIndependentOauth)
