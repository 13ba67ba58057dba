"""Instructions and types of TIA Portal (STEP 7 V17, "Basic instructions" and "Extended instructions") that have no
meaning here. A call of one gives any value, and may write what it is given."""

from __future__ import annotations

_OF_MEMORY = """
    BLKMOV FILL FILL_BLK MOVE_BLK MOVE_BLK_VARIANT PEEK PEEK_BOOL POKE POKE_BLK POKE_BOOL READ_BIG READ_LITTLE
    SCATTER SCATTER_BLK GATHER GATHER_BLK SWAP UBLKMOV UFILL_BLK UMOVE_BLK WRITE_BIG WRITE_LITTLE Serialize Deserialize
"""
_OF_VARIANTS = """
    CountOfElements DB_ANY_TO_VARIANT EQ_TypeOf IS_ARRAY NE_TypeOf TypeOf TypeOfDB TypeOfElements VARIANT_TO_DB_ANY
    VariantGet VariantPut
"""
_OF_TEXTS = """
    ATH BCD16_TO_INT BCD32_TO_DINT Chars_TO_Strg HTA INT_TO_BCD16 DINT_TO_BCD32 JOIN MAX_LEN S_CONV STRG_VAL
    Strg_TO_Chars SPLIT VAL_STRG
"""
_OF_TIME = """
    RD_LOC_T RD_SYS_T RESET_TIMER PRESET_TIMER RUNTIME SET_TIMEZONE SNC_RTCB T_ADD T_COMBINE T_COMP T_CONV
    T_DIFF T_SUB WR_LOC_T WR_SYS_T DTL_TO_DATE DTL_TO_DT DTL_TO_LDT DTL_TO_LTOD DTL_TO_TOD DT_TO_DTL LDT_TO_DTL
"""
_OF_THE_CPU = """
    CAN_DINT CREATE_DB D_ACT_DP DELETE_DB DIS_AIRT DIS_IRT DeviceStates DPNRM_DG DPRD_DAT DPWR_DAT EN_AIRT EN_IRT
    ENDIS_PW GEN_DIAG GET_DIAG GET_ERR_ID GET_ERROR GetChecksum Get_IM_Data GetBlockName GetInstanceName
    GetInstancePath GetSMCinfo GetSymbolForReference GetSymbolName GetSymbolPath GEO2LOG INIT_RD IO2MOD LED LOG2GEO
    LOG2MOD ModuleStates PE_CMD QRY_CINT QRY_DINT QRY_TINT RALRM RDREC RDSYSST RD_ADDR RD_DPARA RD_LGADR RD_OBINF
    RD_SINFO RE_TRIGR READ_DBL SET_CINT SET_TINT SET_TINTL SRT_DINT STP UPDAT_PI UPDAT_PO WAIT WR_DPARM WR_PARM
    WRIT_DBL WRREC
"""
INSTRUCTIONS = frozenset(word.upper() for words in (_OF_MEMORY, _OF_VARIANTS, _OF_TEXTS, _OF_TIME, _OF_THE_CPU)
                         for word in words.split())
"""Their names, in upper case."""
