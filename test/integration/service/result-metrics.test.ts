import { analyticsPropertySuite } from '../../support/service-suites/analytics-property-suite.ts';
import { resultMetricsSuite } from '../../support/service-suites/result-metrics-suite.ts';

analyticsPropertySuite('pglite');
resultMetricsSuite('pglite');
