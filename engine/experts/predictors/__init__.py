"""Which experts will be needed soon: predictors behind one interface, for live prefetch and for replay."""

from engine.experts.predictors.blend import Blend, Evidence, evidence, fit_weights
from engine.experts.predictors.eam import Eam
from engine.experts.predictors.gates import Gate, StackedGates, fitted, fitted_row, stacked
from engine.experts.predictors.predictor import UNKNOWN, Predictor, PredictorTable, RoutingContext, RoutingShape
from engine.experts.predictors.tables import Coactivation, Paths, TokenTable
from engine.experts.predictors.trace_view import NONE, TraceView, same_width, walk

__all__ = [
    "NONE",
    "UNKNOWN",
    "Blend",
    "Coactivation",
    "Eam",
    "Evidence",
    "Gate",
    "Paths",
    "Predictor",
    "PredictorTable",
    "RoutingContext",
    "RoutingShape",
    "StackedGates",
    "TokenTable",
    "TraceView",
    "evidence",
    "fit_weights",
    "fitted",
    "fitted_row",
    "same_width",
    "stacked",
    "walk",
]
