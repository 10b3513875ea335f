import { analyticsPropertySuite } from '../../support/service-suites/analytics-property-suite.ts';
import { analyticsSuite } from '../../support/service-suites/analytics-suite.ts';
import { resultMetricsSuite } from '../../support/service-suites/result-metrics-suite.ts';

analyticsSuite('postgres');
analyticsPropertySuite('postgres');
resultMetricsSuite('postgres');
